/// What kind of file system holds a folder, as far as watching depends on it.
package enum FileSystemKind: Sendable, Equatable {
    /// A local one: the kernel sees every change.
    case local
    /// One that other hosts can change without this kernel's knowledge, so that events are unreliable; with its name.
    case network(String)
}
