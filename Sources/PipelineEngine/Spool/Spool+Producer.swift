import Files
import Glibc
import PipelineKit
import Synchronization

/// Who drops: those by whom fairness counts.
extension Spool {
    /// What the owner of a drop is called, else the number: as it was when it was claimed.
    static func producer(of owner: uid_t) -> String {
        if let name = names.withLock({ $0[owner] }) { return name }
        // May take as long as a server of names does.
        let name = AccountName.user(owner)
        names.withLock { names in
            if names.count >= mostNames { names = [:] }
            names[owner] = name
        }
        return name
    }

    /// That of a job's drop; nil where the drop cannot be looked at.
    static func producer(of job: Job) -> String? {
        let sender: TakeOver.Sender?
        do throws(IOError) { sender = try Self.sender(of: job) } catch { return nil }
        return (sender?.user ?? FileStatus.of(job.original)?.st_uid).map { producer(of: $0) }
    }

    /// Looked up once: there is a drop after the other, and few who send them.
    private static let names = Mutex<[uid_t: String]>([:])
    private static let mostNames = 10_000
}
