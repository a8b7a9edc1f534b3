#include "assets.h"

// C23 has it, and Clang in all its modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char actions_js[] = {
#embed "assets/actions.js"
};
static const unsigned char api_js[] = {
#embed "assets/api.js"
};
static const unsigned char bulk_js[] = {
#embed "assets/bulk.js"
};
static const unsigned char changes_js[] = {
#embed "assets/changes.js"
};
static const unsigned char dialog_js[] = {
#embed "assets/dialog.js"
};
static const unsigned char dom_js[] = {
#embed "assets/dom.js"
};
static const unsigned char drop_js[] = {
#embed "assets/drop.js"
};
static const unsigned char failed_js[] = {
#embed "assets/failed.js"
};
static const unsigned char file_js[] = {
#embed "assets/file.js"
};
static const unsigned char filters_js[] = {
#embed "assets/filters.js"
};
static const unsigned char job_js[] = {
#embed "assets/job.js"
};
static const unsigned char jobfacts_js[] = {
#embed "assets/jobfacts.js"
};
static const unsigned char joblist_js[] = {
#embed "assets/joblist.js"
};
static const unsigned char jobs_js[] = {
#embed "assets/jobs.js"
};
static const unsigned char keys_js[] = {
#embed "assets/keys.js"
};
static const unsigned char live_worker_js[] = {
#embed "assets/live-worker.js"
};
static const unsigned char live_js[] = {
#embed "assets/live.js"
};
static const unsigned char login_html[] = {
#embed "assets/login.html"
};
static const unsigned char login_js[] = {
#embed "assets/login.js"
};
static const unsigned char main_js[] = {
#embed "assets/main.js"
};
static const unsigned char names_js[] = {
#embed "assets/names.js"
};
static const unsigned char needs_js[] = {
#embed "assets/needs.js"
};
static const unsigned char nodes_js[] = {
#embed "assets/nodes.js"
};
static const unsigned char overview_js[] = {
#embed "assets/overview.js"
};
static const unsigned char page_html[] = {
#embed "assets/page.html"
};
static const unsigned char parts_js[] = {
#embed "assets/parts.js"
};
static const unsigned char pipeline_js[] = {
#embed "assets/pipeline.js"
};
static const unsigned char pipes_js[] = {
#embed "assets/pipes.js"
};
static const unsigned char runs_js[] = {
#embed "assets/runs.js"
};
static const unsigned char shell_js[] = {
#embed "assets/shell.js"
};
static const unsigned char sizes_js[] = {
#embed "assets/sizes.js"
};
static const unsigned char spark_js[] = {
#embed "assets/spark.js"
};
static const unsigned char stages_js[] = {
#embed "assets/stages.js"
};
static const unsigned char still_js[] = {
#embed "assets/still.js"
};
static const unsigned char stream_js[] = {
#embed "assets/stream.js"
};
static const unsigned char style_css[] = {
#embed "assets/style.css"
};
static const unsigned char taken_js[] = {
#embed "assets/taken.js"
};
static const unsigned char timeline_js[] = {
#embed "assets/timeline.js"
};
static const unsigned char times_js[] = {
#embed "assets/times.js"
};
static const unsigned char uploads_js[] = {
#embed "assets/uploads.js"
};
static const unsigned char view_js[] = {
#embed "assets/view.js"
};
static const unsigned char visit_js[] = {
#embed "assets/visit.js"
};
static const unsigned char waiting_js[] = {
#embed "assets/waiting.js"
};

#define ASSET(name, bytes) {name, bytes, sizeof bytes}

static const dm_asset assets[] = {
    ASSET("actions.js", actions_js),
    ASSET("api.js", api_js),
    ASSET("bulk.js", bulk_js),
    ASSET("changes.js", changes_js),
    ASSET("dialog.js", dialog_js),
    ASSET("dom.js", dom_js),
    ASSET("drop.js", drop_js),
    ASSET("failed.js", failed_js),
    ASSET("file.js", file_js),
    ASSET("filters.js", filters_js),
    ASSET("job.js", job_js),
    ASSET("jobfacts.js", jobfacts_js),
    ASSET("joblist.js", joblist_js),
    ASSET("jobs.js", jobs_js),
    ASSET("keys.js", keys_js),
    ASSET("live-worker.js", live_worker_js),
    ASSET("live.js", live_js),
    ASSET("login.html", login_html),
    ASSET("login.js", login_js),
    ASSET("main.js", main_js),
    ASSET("names.js", names_js),
    ASSET("needs.js", needs_js),
    ASSET("nodes.js", nodes_js),
    ASSET("overview.js", overview_js),
    ASSET("page.html", page_html),
    ASSET("parts.js", parts_js),
    ASSET("pipeline.js", pipeline_js),
    ASSET("pipes.js", pipes_js),
    ASSET("runs.js", runs_js),
    ASSET("shell.js", shell_js),
    ASSET("sizes.js", sizes_js),
    ASSET("spark.js", spark_js),
    ASSET("stages.js", stages_js),
    ASSET("still.js", still_js),
    ASSET("stream.js", stream_js),
    ASSET("style.css", style_css),
    ASSET("taken.js", taken_js),
    ASSET("timeline.js", timeline_js),
    ASSET("times.js", times_js),
    ASSET("uploads.js", uploads_js),
    ASSET("view.js", view_js),
    ASSET("visit.js", visit_js),
    ASSET("waiting.js", waiting_js),
};

size_t dm_asset_count(void) { return sizeof assets / sizeof *assets; }

const dm_asset *dm_asset_at(size_t index) { return &assets[index]; }
