#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include <arrow/compute/initialize.h>

#include "firn/cli/command_line.h"
#include "firn/cli/exit_code.h"
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

const std::terminate_handler default_terminate = std::get_terminate();

[[noreturn]] void ExitWithout(const char* what) {
  for (const char* part : {"firn: this process may not have more ", what,
                           "; let it have more, or set memory_limit lower\n"}) {
    (void)!write(STDERR_FILENO, part, std::strlen(part));
  }
  std::_Exit(kExitFailed);
}

/// Without memory no thread can go on, nor tell another: what is not committed then is
/// found as after any crash.
void HandleTerminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    ExitWithout("memory");
  } catch (const std::system_error&) {
    ExitWithout("threads");
  } catch (...) {
    default_terminate();  // tells what it was
  }
  std::abort();
}

int Main(int argc, char** argv) {
  std::set_terminate(HandleTerminate);
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
