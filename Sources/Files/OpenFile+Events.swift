import Platform

extension OpenFile {
    /// For waiting for events; on Darwin what is open so does not keep its file system from being unmounted.
    package static let eventsOnly: Int32 = {
        #if canImport(Darwin)
            O_EVTONLY
        #else
            O_RDONLY | O_NONBLOCK
        #endif
    }()
}
