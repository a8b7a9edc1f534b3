import Glibc
import Synchronization

/// What was found out about files that have several names, so that it is found out once. Two threads that meet two
/// names at the same time both do the work.
final class LinkedFiles<Value: Sendable>: Sendable {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t
    }

    private let known = Mutex<[Identity: Value]>([:])

    /// The value of a file in this state, as it was made for another of its names, or as `make` gives it.
    func value<Thrown: Error>(of status: stat, make: () throws(Thrown) -> Value) throws(Thrown) -> Value {
        guard status.st_nlink > 1 else { return try make() }
        let identity = Identity(device: status.st_dev, inode: status.st_ino)
        if let value = known.withLock({ $0[identity] }) { return value }
        let value = try make()
        known.withLock { $0[identity] = value }
        return value
    }
}
