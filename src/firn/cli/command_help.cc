#include "firn/cli/command_help.h"

#include <map>

namespace firn::cli {
namespace {

const CommandHelp kProgram = {
    .details =
        "Records go into a write-ahead log (WAL) of sorted Parquet, and from there into "
        "Iceberg tables as few, well-sized files that do not overlap in their sort key. "
        "Tables lie in a warehouse: a folder with a SQLite catalog that PyIceberg and "
        "Java's JDBC catalog read, too.\n\n"
        "Results go to standard output, messages and progress to standard error. With "
        "--format json a command prints one JSON document.",
    .examples = {{"firn load web.requests requests.csv --create --sort-by 'service, ts "
                  "desc'",
                  "make a table from a file and land the file in it"},
                 {"firn inspect files web.requests",
                  "see the data files that came of it"}},
    .topics =
        {{"Exit status",
          {{"0", "done"},
           {"1",
            "failed: the input, the table or a server does not allow it; one line on "
            "standard error says what was wrong, where, and what to do"},
           {"2", "wrong usage or configuration"}}},
         {"Environment",
          {{"FIRN_CONFIG", "configuration file, unless --config names one"},
           {"NO_COLOR", "if set to anything: no colours, also on a terminal"}}},
         {"Files",
          {{"./firn.yaml",
            "configuration, if neither --config nor FIRN_CONFIG names one"},
           {"./warehouse",
            "the tables, unless the configuration or --warehouse names "
            "another folder"},
           {"./warehouse/catalog.db", "the catalog"},
           {"./warehouse/wal", "the WAL"}}}},
};

// NOLINTNEXTLINE(readability-function-size): a table
const std::map<std::string, CommandHelp, std::less<>>& Commands() {
  static const std::map<std::string, CommandHelp, std::less<>> commands = {
      {"", kProgram},
      {"load",
       {.details =
            "Records become durable in the WAL first and are shifted into the table "
            "then; "
            "with --wal-only the command ends before that. Without --id every run adds "
            "its records; with --id a run that was interrupted goes on behind its "
            "durable "
            "records, and one that was done adds nothing.",
        .examples =
            {{"firn load web.requests requests.csv --create --partition-by 'day(ts)' "
              "--sort-by 'service, ts desc'",
              "make the table from what is in the file, and land it"},
             {"firn load web.requests new.ndjson --evolve-schema",
              "add the columns that the table does not have yet"},
             {"firn load web.requests new.ndjson --unknown-fields-column rest",
              "keep fields that the table does not have in a map column"},
             {"firn load web.requests monday.csv --wal-only --id monday",
              "make the records durable under a name, to be shifted later"}}}},
      {"shift",
       {.details =
            "Plans what the WAL holds behind the table's position, merges it into data "
            "files, and commits files and position in one snapshot. Ends when nothing is "
            "left. Segments that the table took long ago are deleted.",
        .examples = {{"firn shift web.requests", "shift one table"},
                     {"firn shift --all",
                      "shift every table; one that fails does not stop the others"}}}},
      {"serve",
       {.details =
            "POST /v1/tables/NAMESPACE.TABLE takes NDJSON, one object a line, and "
            "answers "
            "once its records are durable in the WAL. The WAL of a table is shifted "
            "whenever it holds shift.start_bytes, or rows older than shift.max_age. GET "
            "/healthz, /readyz and /metrics tell how it goes. SIGTERM or SIGINT ends it: "
            "what was taken is made durable, commits that have begun are finished; a "
            "second signal ends it at once, and loses nothing that was answered.",
        .examples = {{"firn --config firn.yaml serve",
                      "listen where http.listen says (127.0.0.1:8080)"}}}},
      {"plan",
       {.details = "Shows key ranges in the WAL, the clusters they form, and the data "
                   "files that "
                   "a shift would make of them.",
        .examples = {{"firn plan web.requests", "a picture of the plan"},
                     {"firn plan web.requests --format svg > plan.svg",
                      "the picture for a browser"},
                     {"firn plan --input case.json --format json",
                      "the planner alone, on runs described in a file"}}}},
      {"compact",
       {.details = "Finds data files that overlap or are small, and writes them anew.",
        .examples = {{"firn compact web.requests", "compact one table"}}}},
      {"inspect",
       {.details = "Everything Firn writes can be looked at. Nothing is changed."}},
      {"inspect wal",
       {.details = "Per shard of the WAL: its segments, how far the table is in it, and "
                   "what waits to be shifted.",
        .examples = {{"firn inspect wal web.requests",
                      "what of the table is in the WAL"}}}},
      {"inspect segment",
       {.details = "The sorted runs of one file of the WAL, with rows, partition and key "
                   "range of each, and the source ranges it covers.",
        .examples =
            {{"firn inspect segment warehouse/wal/<table uuid>/<shard>/<n>.parquet",
              "the runs of one segment"}}}},
      {"inspect table",
       {.details = "Columns, layout, snapshots and properties.",
        .examples = {{"firn inspect table web.requests", "the table as it is now"}}}},
      {"inspect files",
       {.details =
            "Data files of the current snapshot by partition and key. Keys are shown "
            "for files that Firn wrote.",
        .examples = {{"firn inspect files web.requests", "the data files"}}}},
      {"inspect snapshots",
       {.details = "All snapshots that the table still lists, on every branch, with what "
                   "each added, and the branches and tags that lead to them.",
        .examples = {{"firn inspect snapshots web.requests", "the table's history"}}}},
      {"inspect manifest",
       {.details =
            "A manifest (its data files, with partition and column bounds) or a "
            "manifest list (its manifests, with counts and partition bounds). Told "
            "from the file itself; bounds are decoded.",
        .examples = {{"firn inspect manifest "
                      "warehouse/web/requests/metadata/snap-<id>.avro",
                      "the manifests of a snapshot"}}}},
      {"inspect metadata",
       {.details = "A table's metadata file, read without any catalog.",
        .examples = {{"firn inspect metadata "
                      "warehouse/web/requests/metadata/00002-<uuid>.metadata.json",
                      "the table as that file says"}}}},
      {"table", {.details = "Tables of the catalog."}},
      {"table create",
       {.details =
            "Columns come from --columns or, with nested types and documentation, from "
            "an "
            "Iceberg schema as JSON. Properties that Firn could not use are refused.",
        .examples =
            {{"firn table create web.requests --columns 'ts timestamptz not null, "
              "service "
              "string, status int' --partition-by 'day(ts)' --sort-by 'service, ts desc'",
              "a table from a list of columns"},
             {"firn table create web.requests --schema schema.json --property "
              "write.parquet.compression-codec=zstd",
              "a table from an Iceberg schema, with a property"}}}},
      {"table list",
       {.details = "One name a line.",
        .examples = {{"firn table list", "the tables of ./warehouse"}}}},
      {"table show",
       {.details = "The same as 'firn inspect table'.",
        .examples = {{"firn table show web.requests --format json",
                      "columns, layout and snapshots for a program"}}}},
      {"table drop",
       {.details =
            "The catalog forgets the table; its files stay. Refused while rows of it "
            "wait in the WAL, because nobody could shift them afterwards.",
        .examples = {{"firn table drop web.requests", "forget the table"}}}},
      {"positions", {.details = "The position of a table is a property of the table."}},
      {"positions show",
       {.details = "Through which segment of each shard, and up to which record of each "
                   "source, the table holds everything.",
        .examples = {{"firn positions show web.requests", "how far the table is"}}}},
      {"positions reset",
       {.details = "A table that was rolled back is not shifted until somebody says what "
                   "that meant.",
        .examples = {{"firn positions reset web.requests --to-table",
                      "bring back the rows that were rolled back"},
                     {"firn positions reset web.requests --keep",
                      "leave them out for good"}}}},
      {"wal", {.details = "Repairs of the WAL."}},
      {"wal quarantine",
       {.details =
            "Segments that cannot be read are named and left out, so that the rest can "
            "be shifted. Without --yes nothing is done.",
        .examples = {{"firn wal quarantine web.requests <shard>/<n> --yes",
                      "leave one segment out"}}}},
      {"wal release",
       {.details = "The inverse of 'firn wal quarantine', for a segment that was mended.",
        .examples = {{"firn wal release web.requests <shard>/<n>",
                      "shift the segment after all"}}}},
      {"dead-letters",
       {.details = "Records that did not fit their table, with the reason."}},
      {"dead-letters show",
       {.details = "Where each record came from, why it did not fit, and its bytes.",
        .examples = {{"firn dead-letters show web.requests", "what did not fit"}}}},
      {"dead-letters replay",
       {.details = "Tries them once more, for example after a column was widened.",
        .examples = {{"firn dead-letters replay web.requests", "land what fits now"}}}},
      {"check",
       {.details = "Opens all that the configuration names and reads every table's "
                   "metadata: the "
                   "warehouse, the catalog, the WAL, the memory limit, and per table "
                   "whether Firn "
                   "can write it. One line each; exit status 1 if one is wrong. Changes "
                   "nothing.",
        .examples = {{"firn check", "before the first load, and when something is odd"},
                     {"firn check --format json", "the same for a program"}}}},
      {"why-stuck",
       {.details =
            "What keeps rows from the table, a sentence or two for each thing: a hole in "
            "the log, a damaged segment, a rollback, a catalog that is down, too much or "
            "too little in the log. Told from the table's metadata, the log and the "
            "configuration; no process is asked and nothing is changed.",
        .examples = {{"firn why-stuck web.requests", "what the table waits for"},
                     {"firn why-stuck web.requests --format json",
                      "the same for a program, each with its kind"}}}},
      {"completion",
       {.details = "Completes commands, options, names of tables and of files.",
        .examples = {{"source <(firn completion bash)", "completion in this shell"},
                     {"firn completion fish > ~/.config/fish/completions/firn.fish",
                      "completion in every fish"}}}},
      {"help",
       {.details = "Needs no configuration.",
        .examples = {{"firn help", "the commands there are"},
                     {"firn help table create", "one of them"}}}},
      {"man",
       {.details = "Made from the same source as the help; 'make install' writes it.",
        .examples = {{"firn man > firn.1", "the page as a file"},
                     {"firn man | man -l -", "the page on the screen"}}}},
      {"version",
       {.details = "The same as 'firn --version'.",
        .examples = {{"firn version", "the version"}}}},
  };
  return commands;
}

}  // namespace

const CommandHelp& HelpOf(std::string_view path) {
  static const CommandHelp empty;
  const auto found = Commands().find(path);
  return found == Commands().end() ? empty : found->second;
}

}  // namespace firn::cli
