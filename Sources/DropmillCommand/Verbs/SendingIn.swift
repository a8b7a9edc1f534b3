import ArgumentParser
import Control
@preconcurrency import Dispatch
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// How `retry`, `replay` and `dismiss` are carried out: by the daemon, which goes on with it whatever becomes of this
/// process; where none answers by this one.
struct SendingIn<Verb: ControlVerb> where Verb.Arguments == SendingOrder, Verb.Answer == SendingVerb.Answer {
    let kind: SendingOrder.Kind
    let selection: JobSelection
    let folder: StateFolder
    /// Whether one JSON object is printed, in the end.
    var json = false
    /// What becomes of the jobs.
    var done = "sent in"

    /// `nothing`: what is said where there is none.
    func carryOut(nothing: String) throws(ExitCode) {
        let order = SendingOrder(selection)
        var all: [SendingVerb.Result] = []
        func tell(_ results: [SendingVerb.Result]) {
            all += results
            guard !json else { return }
            results.forEach(Self.show)
            // At a slow pace the next one may be an hour away.
            fflush(nil)
        }
        let end = if let end = try follow(order, tell) { end } else { try alone(order, tell) }
        if json {
            print(Self.json(of: all, selection.dryRun ? end.found ?? JobSummary() : nil))
        } else if let found = end.found, selection.dryRun {
            print((found.more == true && selection.limit == nil ? "more than " : "") + found.text)
        }
        if let problem = end.problem {
            let left = end.left == 0 ? "" : "; \(end.left == 1 ? "1 job is" : "\(end.left) jobs are") not \(done)"
            StandardError.print("error: \(problem)\(left)")
        } else if end.found == nil, all.isEmpty, !json {
            StandardError.print(nothing)
        }
        if end.found == nil && all.isEmpty || end.problem != nil || all.contains(where: { !$0.isDone }) {
            throw ExitStatus.failure
        }
    }

    /// Has the daemon do it; nil where none answers.
    private func follow(
        _ order: SendingOrder, _ tell: ([SendingVerb.Result]) -> Void
    ) throws(ExitCode) -> SendingVerb.Answer? {
        guard folder.shared == nil, folder.isHeldIfKnown != false else { return nil }
        var answer: SendingVerb.Answer
        do throws(ControlClient.Problem) {
            answer =
                selection.dryRun
                ? try ControlClient.ask(SendableVerb.self, .init(verb: kind, order: order), in: folder.path)
                : try ControlClient.ask(Verb.self, order, in: folder.path)
        } catch {
            // Another program's engine may have the folder.
            if error.isAbsent { return nil }
            throw DaemonRequest.failed(error)
        }
        haltOnInterruption(answer.run)
        var known = 0
        while true {
            known += answer.results.count
            tell(answer.results)
            if answer.isOver { return answer }
            do throws(ControlClient.Problem) {
                answer = try ControlClient.ask(
                    SendingVerb.self, .init(run: answer.run, after: known), in: folder.path)
            } catch {
                StandardError.print("error: \(error.message); 'dropmill audit' shows what came of it")
                throw ExitStatus.failure
            }
        }
    }

    /// Has the daemon end the run when this is interrupted (Ctrl-C); what it did is told all the same.
    private func haltOnInterruption(_ run: String) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        DispatchQueue.global().async { @Sendable [path = folder.path, signals] in
            var (signals, signal) = (signals, Int32(0))
            sigwait(&signals, &signal)
            do throws(ControlClient.Problem) {
                _ = try ControlClient.ask(HaltVerb.self, .init(run: run), in: path)
            } catch {
                StandardError.print("error: \(error.message)")
            }
            sigwait(&signals, &signal)
            _exit(128 + SIGINT)
        }
    }

    private func alone(
        _ order: SendingOrder, _ tell: ([SendingVerb.Result]) -> Void
    ) throws(ExitCode) -> SendingVerb.Answer {
        let query: JobQuery
        do throws(ControlProblem) {
            query = try order.query()
        } catch {
            StandardError.print("error: \(error.message)")
            throw ExitStatus.failure
        }
        var answer = SendingVerb.Answer(run: "")
        answer.found = try folder.write(byAnyone: true) { journal throws(JournalError) in
            guard var run = try run(order, query, journal) else { return nil }
            tell(run.results())
            guard !selection.dryRun, !run.rest.isEmpty else { return run.found }
            var pace = selection.rate
            let interruption = Interruption()
            try folder.change(Verb.name, order, in: journal) { () throws(JournalError) in
                while !run.rest.isEmpty, !interruption.comes(within: pace?.rest() ?? .zero) {
                    try run.goOn(pace == nil ? SendingRun.atOnce : 1)
                    tell(run.results())
                }
                answer.left = run.rest.count
                if !run.rest.isEmpty { answer.problem = "it was interrupted" }
                return ((), [run.text, answer.problem].compactMap(\.self).joined(separator: "; "))
            }
            return run.found
        }
        return answer
    }

    private func run(
        _ order: SendingOrder, _ query: JobQuery, _ journal: any Journal
    ) throws(JournalError) -> (any BulkRun)? {
        let most = selection.dryRun ? DryRuns.mostJobs : .max
        if kind == .dismiss {
            return try DismissRun(order, query, most: most, in: journal, by: AccountName.user(geteuid()))
        }
        guard let kind = Resubmission.Kind(kind, order) else { return nil }
        return try SendingRun(order, query, most: most, with: try Resubmission(journal, kind))
    }

    private static func show(_ result: SendingVerb.Result) {
        guard result.isDone else { return StandardError.print("error: \(result.job): \(result.text ?? "")") }
        guard let path = result.path else { return print("\(result.job) \(result.text ?? "")") }
        let name = FileName(Array(result.name ?? .init()))?.text ?? ""
        print("\(result.job) \(name) → \(FilePath(bytes: Array(path)).shortText)")
        if let leftover = result.text { StandardError.print("warning: \(leftover)") }
    }

    /// For programs: what was sent in, and what was not.
    private static func json(of results: [SendingVerb.Result], _ summary: JobSummary?) -> String {
        var json = JSONText()
        json.object { json in
            summary?.write(&json)
            json.array("sent") { json in
                for sent in results where sent.path != nil {
                    json.object { json in
                        json.text("id", sent.job)
                        json.text("pipeline", sent.pipeline ?? "")
                        json.name("name", Array(sent.name ?? .init()))
                        json.name("path", Array(sent.path ?? .init()))
                        if let leftover = sent.text { json.text("warning", leftover) }
                    }
                }
            }
            json.array("problems") { json in
                for problem in results where problem.path == nil {
                    json.object { json in
                        json.text("job", problem.job)
                        json.text("message", problem.text ?? "")
                    }
                }
            }
        }
        return json.string
    }
}

extension SendingOrder {
    /// Named jobs, or those that filters choose.
    fileprivate init(_ selection: JobSelection) {
        let (jobs, filters) = (selection.jobs, selection.filters)
        self.init(
            jobs: jobs.isEmpty ? nil : jobs, all: jobs.isEmpty ? true : nil,
            states: filters.states.isEmpty ? nil : filters.query.words, pipeline: filters.pipeline,
            producer: filters.producer, name: filters.pattern?.pattern, code: filters.code,
            since: filters.since?.nanoseconds, until: filters.until?.nanoseconds, limit: selection.limit,
            interval: selection.rate?.interval.seconds)
    }
}
