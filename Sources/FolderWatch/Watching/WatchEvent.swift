/// What a subscriber receives.
package enum WatchEvent: Sendable, Equatable {
    /// Something happened to a folder or a file that it watches.
    case of(Watch, FolderEvent)
    /// Events are lost: only a scan shows what happened.
    case overflow
}
