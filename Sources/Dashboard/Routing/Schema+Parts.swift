extension Schema {
    /// What several routes answer with: components of the document.
    enum Part: String, CaseIterable, Sendable {
        case daemon, pipeline, hold, trouble, stalled, drop, job, failure, transition, problem, readiness, change
        case progress, result, file, files, timeline, node

        var schema: Schema {
            switch self {
            case .daemon:
                .object([
                    .field("run", .text), .field("version", .text), .field("host", .text), .field("zone", .text),
                    .field("utc_offset_s", .integer), .field("now", .time), .field("started_at", .time),
                    .field("stopping", .flag), .maybe("journal", .text), .maybe("node", .text),
                ])
            case .pipeline: Self.pipelineSchema
            case .hold:
                .object([
                    .field("kind", .choice(["pause", "drain"])), .field("by", .text), .field("uid", .integer),
                    .field("since", .time), .maybe("until", .time), .maybe("reason", .text),
                    .maybe("node", .text),
                ])
            case .trouble:
                .object([
                    .field("code", .text), .field("summary", .text), .field("remedy", .text), .maybe("since", .time),
                ])
            case .stalled:
                .object([.field("for_s", .number), .field("text", .text), .maybe("job", .text), .maybe("stage", .text)])
            case .drop:
                .object([
                    .field("pipeline", .text), .field("path", .text), .maybe("path_base64", .text),
                    .maybe("size", .integer), .maybe("kind", .choice(["file", "folder"])), .maybe("for_s", .number),
                    .field("code", .text), .field("text", .text), .field("complete", .flag), .field("claimed", .flag),
                ])
            case .job: Self.jobSchema
            case .failure:
                .object([
                    .field("class", .choice(["file", "transient", "environment"])), .field("code", .text),
                    .field("summary", .text), .field("remedy", .text), .field("detail", .text),
                ])
            case .transition:
                .object([
                    .field("event", .text), .field("at", .time), .maybe("stage", .text), .maybe("duration_s", .number),
                    .maybe("note", .text), .maybe("times", .integer), .maybe("last_at", .time),
                ])
            case .problem:
                .object([
                    .field("type", .text), .field("title", .text), .field("status", .integer), .field("code", .text),
                    .field("detail", .text), .maybe("subject", .text), .field("remedy", .text),
                    .maybe("problems", .array(.text)),
                ])
            case .readiness:
                .object([.field("status", .choice(["ok"])), .field("pipelines", .integer), .field("jobs", .integer)])
            case .change:
                .object([
                    .field("at", .time), .field("uid", .integer), .field("user", .text), .field("verb", .text),
                    .field("arguments", .text), .maybe("result", .text),
                    .maybe("token", .text), .maybe("role", .text), .maybe("address", .text),
                ])
            case .timeline: Self.timelineSchema
            case .node:
                .object([
                    .field("name", .text), .field("host", .text), .field("version", .text), .field("since", .time),
                    .field("state", .choice(["alive", "silent", "dead"])), .field("jobs", .integer),
                    .field(
                        "paused", .array(.object([.field("pipeline", .text), .field("trouble", .part(.trouble))]))),
                    .field("held", .array(.object([.field("pipeline", .text), .field("hold", .part(.hold))]))),
                ])
            case .progress:
                .object([
                    .field("run", .text), .maybe("jobs", .integer), .maybe("bytes", .integer),
                    .maybe("names", .array(.text)), .maybe("names_base64", .array(.text)),
                    .maybe("more", .flag), .maybe("key", .text), .field("results", .array(.part(.result))),
                    .field("left", .integer), .maybe("problem", .text), .field("over", .flag),
                ])
            case .result:
                .object([
                    .field("job", .text), .field("done", .flag), .maybe("pipeline", .text), .maybe("name", .text),
                    .maybe("name_base64", .text), .maybe("path", .text), .maybe("path_base64", .text),
                    .maybe("text", .text),
                ])
            case .files:
                .object([
                    .field("loaded", .integer), .field("changed", .array(.part(.file))),
                    .maybe("refused", .array(.text)),
                ])
            case .file:
                .object([
                    .field("file", .text), .maybe("file_base64", .text),
                    .field("kind", .choice(["changed", "added", "gone", "silent"])), .maybe("at", .time),
                    .maybe("reason", .text),
                ])
            }
        }

        private static let pipelineSchema = Schema.object([
            .field("name", .text), .field("file", .text), .maybe("file_base64", .text), .field("inbox", .text),
            .maybe("inbox_base64", .text),
            .field(
                "state",
                .choice(["working", "idle", "paused", "drained", "trouble", "stalled", "outside_hours", "silent"])),
            .maybe("opens_at", .time),
            .maybe("hold", .part(.hold)), .maybe("trouble", .part(.trouble)), .maybe("stalled", .part(.stalled)),
            .maybe(
                "waiting",
                .object([
                    .field("drops", .integer), .field("complete", .integer), .field("complete_bytes", .integer),
                    .maybe("oldest_s", .number), .field("left_alone", .integer),
                ])),
            .field(
                "jobs",
                .object([
                    .field("queued", .integer), .field("running", .integer), .field("deferred", .integer),
                    .field("settling", .integer), .field("failed", .integer), .maybe("next_attempt_at", .time),
                ])),
            .field("workers", .object([.field("all", .integer), .field("busy", .integer)])),
            .field(
                "today",
                .object([
                    .field("since", .time), .field("processed", .integer), .field("failed", .integer),
                    .field("bytes", .integer),
                ])),
            .maybe("oldest_unfinished_s", .number), .maybe("last_settled_at", .time),
            .field(
                "minutes",
                .object([
                    .field("last", .time), .field("jobs", .array(.integer)), .field("failed", .array(.integer)),
                    .field("bytes", .array(.integer)),
                ])),
            .field(
                "free",
                .array(
                    .object([
                        .field("folder", .text), .maybe("folder_base64", .text), .field("free", .integer),
                        .field("total", .integer), .field("kept", .integer),
                    ]))),
            .field(
                "stages",
                .array(
                    .object([
                        .field("stage", .integer), .field("kind", .text), .maybe("label", .text),
                        .field("workers", .integer), .field("queued", .integer), .field("running", .integer),
                        .field("deferred", .integer), .maybe("usually_s", .number),
                        .field("failed_last_hour", .integer),
                    ]))),
            .maybe(
                "upload",
                .object([
                    .field("max_bytes", .integer), .field("match", .array(.text)),
                    .field("folders", .choice(["no", "as_one", "as_files"])), .maybe("depth", .integer),
                ])),
        ])

        private static let timelineSchema = Schema.object([
            .maybe("first_seen", .time),
            .field(
                "held",
                .array(
                    .object([
                        .field("code", .text), .field("text", .text), .field("from", .time), .field("for_s", .number),
                    ]))),
            .field(
                "rows",
                .array(
                    .object([
                        .maybe("stage", .integer), .field("kind", .text), .maybe("on_failure", .flag),
                        .maybe("skipped", .flag),
                        .field(
                            "spans",
                            .array(
                                .object([
                                    .field("kind", .choice(["inbox", "queued", "run", "deferred", "settling"])),
                                    .field("from", .time), .maybe("to", .time), .maybe("for_s", .number),
                                    .maybe("attempt", .integer),
                                    .maybe("outcome", .choice(["done", "again", "failed"])), .maybe("text", .text),
                                ]))),
                    ]))),
        ])

        private static let jobSchema = Schema.object([
            .field("id", .text), .field("pipeline", .text),
            .field(
                "state",
                .choice(["queued", "running", "deferred", "settling", "processed", "failed", "cancelled", "lost"])),
            .field("name", .text), .maybe("name_base64", .text), .field("path", .text), .maybe("path_base64", .text),
            .field("size", .integer), .maybe("producer", .text), .maybe("node", .text),
            .field("dropped_at", .time),
            .field("claimed_at", .time),
            .maybe("finished_at", .time),
            .maybe("duration_s", .number), .field("stage", .integer), .maybe("stage_kind", .text),
            .maybe(
                "progress",
                .object([
                    .field("done", .integer), .maybe("of", .integer), .field("unit", .choice(["bytes", "entries"])),
                    .maybe("rate", .integer),
                ])),
            .field("failures", .integer),
            .field("recoveries", .integer), .maybe("next_attempt_at", .time), .maybe("failed_stage", .text),
            .maybe("failure", .part(.failure)), .maybe("held", .part(.hold)), .maybe("paused", .part(.failure)),
            .field("outputs", .array(.text)), .maybe("outputs_base64", .array(.text)), .maybe("original", .text),
            .maybe("original_base64", .text), .field("digests", .map(.text)), .field("facts", .map(.text)),
            .maybe("retry_of", .text), .maybe("replay_of", .text), .maybe("retried_as", .array(.text)),
            .maybe("replayed_as", .array(.text)),
            .maybe("dismissed", .object([.field("by", .text), .field("at", .time)])),
            .maybe("history", .array(.part(.transition))),
            .maybe("timeline", .part(.timeline)),
            // Each verb that makes sense: true, or why it cannot be done.
            .maybe("may", .map(.either([.flag, .text]))),
        ])
    }
}
