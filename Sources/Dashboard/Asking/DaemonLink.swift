import Control
@preconcurrency import Dispatch
import Files
import Journal
import SystemPackage

/// Asks the daemon through its socket, few questions at a time: it serves few connections of one user, and blocks the
/// thread that asks. What waits long has a connection besides, as has an upload that begins.
struct DaemonLink: Sendable {
    /// The daemon's state folder, in which its socket is.
    let folder: FilePath
    private let questions = Permits(2)
    /// Changes take their time, and nobody who only looks waits for them.
    private let changes = Permits(1)
    /// Those may be on a disk that does not answer.
    private let files = Permits(1)
    private let queue = DispatchQueue(label: "dropmill.dashboard.asking", attributes: .concurrent)

    init(to folder: FilePath) { self.folder = folder }

    /// `behalf`: for whom something is changed.
    func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, for behalf: Behalf? = nil
    ) async throws(Problem) -> Verb.Answer {
        let permits = Verb.isChange ? changes : isOfFiles(verb) ? files : questions
        await permits.take()
        let answer = await answer(verb, arguments, behalf)
        permits.give()
        return try answer.get()
    }

    private func isOfFiles(_ verb: any ControlVerb.Type) -> Bool {
        verb is FilesVerb.Type || verb is FileVerb.Type
    }

    /// The same on a connection of its own, for what waits long.
    func listen<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments
    ) async throws(Problem) -> Verb.Answer {
        try await answer(verb, arguments, nil).get()
    }

    private func answer<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, _ behalf: Behalf?
    ) async -> Result<Verb.Answer, Problem> {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable [folder] in
                do throws(ControlClient.Problem) {
                    continuation.resume(
                        returning: .success(try ControlClient.ask(verb, arguments, for: behalf, in: folder)))
                } catch {
                    continuation.resume(returning: .failure(Problem(error, isChange: Verb.isChange)))
                }
            }
        }
    }
}
