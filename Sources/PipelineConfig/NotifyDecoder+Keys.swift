import PipelineKit

/// The keys of `notify`, for the schema and the manual.
extension NotifyDecoder {
    static let entry = [
        PipelineKey(
            "on", .value(.oneOrMore(.either(.choice(NotifyEvent.allCases.map(\.rawValue)), .map(.time)))),
            "what to tell of; quiet takes a time: 'quiet: 26h', nothing was processed for so long"),
        PipelineKey(
            "pipelines", .value(.oneOrMore(.text)),
            "shell patterns of the pipelines that it is about; unless given, all"),
        PipelineKey("to", .map(target), "where messages go: by one way"),
        PipelineKey(
            "digest", .value(.time), "the least time between two messages about the same: the first is sent at once",
            default: .text("5m")),
        PipelineKey("ping", .map(ping), "instead of all that: a dead man's switch elsewhere, told again and again"),
    ]

    static let target = [
        PipelineKey(NotifyTarget.Way.ntfy.rawValue, .value(.text), "the URL of an ntfy topic; it may hold secrets"),
        PipelineKey(
            NotifyTarget.Way.apprise.rawValue, .value(.text),
            "the URL of an Apprise API, such as https://apprise.example/notify/KEY; it may hold secrets"),
        PipelineKey(NotifyTarget.Way.webhook.rawValue, .value(.text), "a URL; it may hold secrets"),
        PipelineKey(
            NotifyTarget.Way.mail.rawValue, .value(.oneOrMore(.text)), "addresses, for which 'sendmail -t' is run"),
        PipelineKey(
            NotifyTarget.Way.run.rawValue, .value(.oneOrMore(.text)),
            "a program and its arguments, without a shell; it reads the message as JSON from standard input"),
        PipelineKey(
            "headers", .value(.map(.text)), "with a URL: request headers, which may hold secrets"),
        PipelineKey(
            "body", .value(.text),
            "with webhook: what is sent, with {title}, {message}, {event}, {pipeline}, {count}, {state}, {host}, "
                + "{since}, {time} and {id}; unless given, all of them as JSON"),
        PipelineKey("from", .value(.text), "with mail: the sender's address"),
        PipelineKey("ca", .value(.text), "with a URL: a PEM file of CA certificates to trust instead of the system's"),
        PipelineKey(
            "insecure", .value(.flag),
            "with a URL: whether secrets may be sent to another host unencrypted; unless given, "
                + "not"),
    ]

    static let ping = [
        PipelineKey(
            "url", .value(.text),
            "where it is told that all is well; below it, /fail is told what is not. It may hold secrets"
        ),
        PipelineKey("every", .value(.time), "how often", default: .text("5m")),
        PipelineKey(
            "insecure", .value(.flag), "whether secrets may be sent to another host unencrypted; unless given, not"),
    ]
}
