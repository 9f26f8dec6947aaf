#include <csignal>

#include <arrow/compute/initialize.h>

#include "firn/cli/command_line.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"

namespace firn::cli {
namespace {

StopSource& ProcessStop() {
  static StopSource stop;
  return stop;
}

/// The first signal asks the command to stop, the second ends the process.
void HandleSignal(int signal) {
  ProcessStop().RequestStop();
  std::signal(signal, SIG_DFL);
}

int Main(int argc, char** argv) {
  const Status initialized = arrow::compute::Initialize();
  FIRN_CHECK(initialized.ok(), "{}", initialized.ToString());
  (void)ProcessStop();  // made here: a signal handler must not allocate
  std::signal(SIGINT, HandleSignal);
  std::signal(SIGTERM, HandleSignal);
  // A file over the limit of its size is then an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return CommandLine(ProcessStop().token()).Main(argc, argv);
}

}  // namespace
}  // namespace firn::cli

int main(int argc, char** argv) { return firn::cli::Main(argc, argv); }
