import Files

/// The events of this system.
package enum SystemEvents {
    /// Opens them, or says why there are none.
    package static func open() -> any FolderEvents {
        do throws(IOError) {
            return try InotifyEvents()
        } catch {
            return NoEvents(because: unavailable)
        }
    }

    package static let unavailable =
        "inotify could not be opened; raise fs.inotify.max_user_instances (see sysctl) or the limit of open files"
}
