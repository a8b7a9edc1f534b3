import Control

extension Route {
    static let metrics = Route(
        .get, "/metrics", .monitor, "What Prometheus scrapes: its own format, or OpenMetrics where that is accepted",
        .other(mediaType: "text/plain")
    ) { call in
        let isOpen = call.request.headers[.accept]?.contains("application/openmetrics-text") == true
        let answer = try await call.site.daemon.ask(
            MetricsVerb.self, .init(openMetrics: isOpen, process: true, labels: nil))
        let kind =
            isOpen
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8"
        return HTTPAnswer.text(answer.text, kind)
    }

    static let healthz = Route(
        .get, "/healthz", .monitor, "Whether this process is well", .json(.object([.field("status", .choice(["ok"]))]))
    ) { _ in
        HTTPAnswer.json { $0.text("status", "ok") }
    }

    static let readyz = Route(
        .get, "/readyz", .monitor, "Whether the daemon is well, as `dropmill health` says it",
        .json(.part(.readiness)), refusals: [.serviceUnavailable]
    ) { call in
        let health = try await call.site.daemon.ask(HealthVerb.self, Nothing())
        let reasons = health.problems
        guard reasons.isEmpty else {
            throw Problem(
                .serviceUnavailable, "daemon.ill", reasons[0], subject: "daemon",
                remedy: "Mend that; 'dropmill health' says it, too.", problems: reasons)
        }
        return HTTPAnswer.json { json in
            json.text("status", "ok")
            json.integer("pipelines", health.pipelines)
            json.integer("jobs", health.jobs)
        }
    }
}
