/// One thing that was tried, and what came of it.
package struct Finding: Sendable, Equatable {
    /// How serious it is.
    package enum Grade: String, Sendable {
        /// As it should be.
        case good = "ok"
        /// It works, in a way that one should know of.
        case note
        /// Something does not work.
        case problem
    }

    /// What was tried; the words stay the same for programs.
    package enum Check: String, Sendable {
        case fileSystem = "file system"
        case rights
        case trust
        case space
        case events
        case leases
        case ownership
        case times
        case rename
        case watches
        case instances
        case journal
        case user
        case daemon
        case pause
        case jobs
        case helper
        case program
        case service
        case file
    }

    package let check: Check
    package let grade: Grade
    /// What was found: a sentence without its stop.
    package let fact: String
    /// What can be done about it, where anything needs to be: a sentence without its stop.
    package let remedy: String?

    package init(check: Check, grade: Grade, fact: String, remedy: String?) {
        self.check = check
        self.grade = grade
        self.fact = fact
        self.remedy = remedy
    }

    /// What would stop a stage that runs now.
    package init(_ check: Check, _ failure: Failure) {
        func plain(_ sentence: String) -> String { sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence }
        self.init(
            check: check, grade: .problem, fact: plain(failure.summary),
            remedy: failure.remedy.isEmpty ? nil : plain(failure.remedy))
    }

    /// All is well.
    package static func good(_ check: Check, _ fact: String) -> Finding {
        Finding(check: check, grade: .good, fact: fact, remedy: nil)
    }

    /// Worth knowing.
    package static func note(_ check: Check, _ fact: String, _ remedy: String? = nil) -> Finding {
        Finding(check: check, grade: .note, fact: fact, remedy: remedy)
    }

    /// Not well.
    package static func problem(_ check: Check, _ fact: String, _ remedy: String) -> Finding {
        Finding(check: check, grade: .problem, fact: fact, remedy: remedy)
    }
}
