import Glibc

/// Ends processes that this one has started.
enum Children {
    /// Kills a child, or with a negative number a group of children, and waits until nothing is left of it.
    static func end(_ number: pid_t) {
        kill(number, SIGKILL)
        for round in 0..<2000 {
            if isOver(number, WNOHANG) { return }
            poll(nil, 0, round < 100 ? 0 : 1)
        }
        waitElsewhere(number)
    }

    /// Whether none is left to be waited for. Of a group each is.
    private static func isOver(_ number: pid_t, _ options: Int32) -> Bool {
        var status: Int32 = 0
        while true {
            let ended = waitpid(number, &status, options)
            if ended == 0 { return false }
            if ended < 0, errno != EINTR { return true }
            if ended == number { return true }
        }
    }

    /// For what the kernel does not let go, as on a file system that is away: nobody hangs with it.
    private static func waitElsewhere(_ number: pid_t) {
        var thread: pthread_t = 0
        let status = pthread_create(
            &thread, nil,
            { pointer in
                _ = Children.isOver(pid_t(Int(bitPattern: pointer)), 0)
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(number)))
        if status == 0 { pthread_detach(thread) }
    }
}
