package import Dispatch
import Synchronization
package import SystemPackage

/// Looks at file systems that may not answer, for callers that wait only until a deadline. Each attempt has a thread of
/// its own; a place where one is stuck is not looked at again, so that stuck threads do not add up.
package final class Lookout: Sendable {
    /// What came of an attempt.
    package enum Outcome<Value: Sendable>: Sendable {
        case over(Value)
        /// What is there does not answer; nil where that is not known.
        case silent(FilePath?)
    }

    /// Asked before each look: whether to make it. Where one is not made nothing comes of the attempt.
    package struct Permit: Sendable {
        /// For who waits as long as it takes.
        package static let always = Permit { @Sendable _ in true }
        /// For who knows that nothing answers.
        package static let never = Permit { @Sendable _ in false }

        fileprivate let ask: @Sendable (FilePath) -> Bool

        package func callAsFunction(_ path: FilePath) -> Bool { ask(path) }
    }

    private struct Look {
        var place: FilePath?
        var isGivenUp = false
        /// When it began to look there.
        var began = DispatchTime.now()
        /// Where it did not look, since another one has not come back from there.
        var avoided: FilePath?
    }

    private struct State {
        var looks: [Int: Look] = [:]
        var last = 0
    }

    private let label: String
    private let state = Mutex(State())

    /// `label`: that of its queues.
    package init(label: String) { self.label = label }

    /// Does that, and waits for it. `unwanted` is given what comes of it later, or after a look was not made.
    package func attempt<Value: Sendable>(
        until deadline: DispatchTime, _ body: @escaping @Sendable (Permit) -> Value,
        unwanted: @escaping @Sendable (Value) -> Void = { @Sendable _ in }
    ) -> Outcome<Value> {
        let (id, attempt) = begin(body, unwanted)
        return attempt.wait(until: deadline) ?? .silent(giveUp(id))
    }

    /// The same where much is to be looked at, which may take its time: it is given up where nothing comes of one look
    /// for so many seconds.
    package func attempt<Value: Sendable>(
        resting patience: Double, _ body: @escaping @Sendable (Permit) -> Value
    ) -> Outcome<Value> {
        let (id, attempt) = begin(body) { @Sendable _ in }
        var last = DispatchTime.now()
        while true {
            if let outcome = attempt.wait(until: last + patience, isPatient: true) { return outcome }
            let next = state.withLock { $0.looks[id]?.began }
            // It has ended at this very moment, or looks no further.
            guard let next, next > last else { return attempt.wait(until: .now()) ?? .silent(giveUp(id)) }
            last = next
        }
    }

    private func begin<Value: Sendable>(
        _ body: @escaping @Sendable (Permit) -> Value, _ unwanted: @escaping @Sendable (Value) -> Void
    ) -> (Int, Attempt<Outcome<Value>>) {
        let attempt = Attempt<Outcome<Value>>()
        let id = state.withLock { state in
            state.last &+= 1
            state.looks[state.last] = Look()
            return state.last
        }
        DispatchQueue(label: label).async { @Sendable [self] in
            let value = body(Permit { @Sendable path in self.mayLook(at: path, id) })
            let avoided = state.withLock { $0.looks.removeValue(forKey: id)?.avoided }
            let isAwaited = attempt.end(with: avoided.map { .silent($0) } ?? .over(value))
            if avoided != nil || !isAwaited { unwanted(value) }
        }
        return (id, attempt)
    }

    private func mayLook(at path: FilePath, _ id: Int) -> Bool {
        state.withLock { state in
            let isSilent = state.looks.values.contains { $0.isGivenUp && $0.place == path }
            if isSilent { state.looks[id]?.avoided = path }
            guard let look = state.looks[id], !look.isGivenUp, look.avoided == nil else { return false }
            state.looks[id]?.place = path
            state.looks[id]?.began = .now()
            return true
        }
    }

    private func giveUp(_ id: Int) -> FilePath? {
        state.withLock { state in
            state.looks[id]?.isGivenUp = true
            return state.looks[id]?.place
        }
    }
}
