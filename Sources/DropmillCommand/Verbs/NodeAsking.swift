import ArgumentParser
import Control
import Files
import Glibc
import Journal
import PipelineKit

/// Asks nodes by way of the journal that they share, as their control sockets would be asked.
struct NodeAsking {
    typealias Answers<Verb: ControlVerb> = [(node: NodeRecord, result: Result<Verb.Answer, ControlClient.Problem>)]

    let journal: any SharedJournal

    /// How long a node may take to begin; it looks every second.
    private static let patience = Duration.seconds(10)
    /// Microseconds between two looks for answers.
    private static let pause: useconds_t = 100_000
    /// After how long people wonder.
    private static let glance = Duration.seconds(3)

    /// The node of this name, or all that are not dead and have their names.
    func nodes(_ name: String?) throws(JournalError) -> [NodeRecord] {
        let nodes = try journal.nodes().filter { !$0.isDead && !$0.isWaiting && (name ?? $0.name) == $0.name }
        guard !nodes.isEmpty else {
            let which = name.map { "node '\(EscapedText.of($0))'" } ?? "node"
            throw JournalError(.missing, "No \(which) is alive; 'dropmill nodes --all' lists those that are known.")
        }
        return nodes.sorted { ($0.name, $0.incarnation) < ($1.name, $1.incarnation) }
    }

    /// Asks all of these the same, each process and not whatever has its name by then.
    func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, of nodes: [NodeRecord]
    ) throws(JournalError) -> Answers<Verb> {
        Array(zip(nodes, try ask(verb, nodes.map { ($0, arguments) })))
    }

    /// Asks the nodes that have these jobs, each of its own, and says why nothing came of the others.
    func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, of jobs: [JobID], _ arguments: ([JobID]) -> Verb.Arguments
    ) throws(JournalError) -> (answers: [Verb.Answer], left: [(id: JobID, reason: String)]) {
        let holders = try journal.holders(of: jobs)
        let nodes = try journal.nodes().filter { !$0.isDead }
        let shares = nodes.map { node in (node, jobs: jobs.filter { holders[$0] == node.incarnation }) }
            .filter { !$0.jobs.isEmpty }
        let asked = Set(shares.flatMap(\.jobs))
        var left = jobs.filter { !asked.contains($0) }.map { id in
            let reason =
                holders[id] == nil ? "it is over by now" : "its node is dead, and another takes it over: try again soon"
            return (id: id, reason: reason)
        }
        var answers: [Verb.Answer] = []
        let results = try ask(verb, shares.map { ($0.0, arguments($0.jobs)) })
        for (share, result) in zip(shares, results) {
            switch result {
            case .success(let answer): answers.append(answer)
            case .failure(let problem):
                let reason = "\(share.0.printable): \(problem.message)"
                left += share.jobs.map { (id: $0, reason: reason) }
            }
        }
        return (answers, left)
    }

    private func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ questions: [(node: NodeRecord, arguments: Verb.Arguments)]
    ) throws(JournalError) -> [Result<Verb.Answer, ControlClient.Problem>] {
        guard !questions.isEmpty else { return [] }
        let lines = questions.map { question in
            let line = ControlLine.bytes(of: ControlRequest(id: 1, verb: verb.name, arguments: question.arguments))
            return (question.node.incarnation, String(decoding: line.dropLast(), as: UTF8.self))
        }
        let numbers = try journal.ask(lines, by: AccountName.user(geteuid()), user: geteuid())
        try wait(for: numbers.compactMap(\.self), until: max(Self.patience, .seconds(verb.patience)))
        let standings = try journal.withdraw(numbers.compactMap(\.self))
        return numbers.map { number in
            let standing = number.flatMap { standings[$0] } ?? .init(isTaken: number != nil, isDead: true)
            return Result { () throws(ControlClient.Problem) in try Self.answer(of: verb, standing) }
        }
    }

    /// Until all have answered, or not even begun in time.
    private func wait(for numbers: [Int64], until patience: Duration) throws(JournalError) {
        let begin = MonotonicTime.now()
        var isTold = false
        while true {
            let standings = try journal.standings(of: numbers)
            let open = standings.values.filter { !$0.isOver }
            let age = MonotonicTime.now() - begin
            if open.isEmpty || age >= patience || age >= Self.patience && !open.contains(where: \.isTaken) { return }
            if age >= Self.glance, !isTold, isatty(STDERR_FILENO) == 1 {
                StandardError.print("waiting for the answer of \(open.count == 1 ? "a node" : "\(open.count) nodes") …")
                isTold = true
            }
            usleep(Self.pause)
        }
    }

    private static func answer<Verb: ControlVerb>(
        of verb: Verb.Type, _ standing: NodeRequest.Standing
    ) throws(ControlClient.Problem) -> Verb.Answer {
        if let answer = standing.answer { return try ControlClient.answer(of: verb, in: Array(answer.utf8)) }
        let what =
            switch (standing.isTaken, standing.isDead) {
            case (false, true): "it is dead; nothing was done there"
            case (false, false):
                "it does not answer, and nothing was done there; it may be hanging, or be of an older version"
            case (true, true): "it died before it answered; it may have done it"
            case (true, false): "it has begun and does not answer; it may still do it"
            }
        throw ControlClient.Problem(message: what, isLate: !standing.isDead)
    }
}

extension NodeRecord {
    /// Its name, as people may be told it.
    var printable: String { EscapedText.printable(name) }
}

extension StateFolder {
    /// Asks nodes that share the journal. What is wrong with that is printed, and the exit status thrown.
    func askingNodes<Value>(_ body: (NodeAsking) throws(JournalError) -> Value) throws(ExitCode) -> Value {
        try write(byAnyone: true) { journal throws(JournalError) in
            guard let shared = journal as? any SharedJournal else {
                throw JournalError(.missing, "No nodes share this journal.")
            }
            return try body(NodeAsking(journal: shared))
        }
    }
}
