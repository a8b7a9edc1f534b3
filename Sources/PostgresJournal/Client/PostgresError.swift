import Journal

/// Why something was not done, or is not known to be.
enum PostgresError: Error, Equatable {
    /// libpq cannot be loaded.
    case library(String)
    /// There is no connection, or it ended while an answer was awaited: what was asked for may be done.
    case lost(String)
    /// The server refuses: nothing was done.
    case refused(state: String, String)
    /// It is too old, or not ours.
    case unfit(String)

    /// Whether it may be gone at once: that of a connection, or of transactions that waited for each other.
    var isPassing: Bool {
        switch self {
        case .lost: true
        case .refused(let state, _): state.hasPrefix(PostgresState.rolledBack)
        case .library, .unfit: false
        }
    }

    /// What is said of it.
    var text: String {
        switch self {
        case .library(let text), .lost(let text), .refused(_, let text), .unfit(let text): text
        }
    }

    /// Of a number as libpq gives it.
    static func version(_ number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }

    /// The oldest server that does what is asked of it.
    static let oldest = 140_000

    /// Why a server of this version does not do; nil where it does.
    static func refusal(ofServer number: Int) -> PostgresError? {
        guard number < oldest else { return nil }
        return .unfit(
            "the server is PostgreSQL \(version(number)), and \(version(oldest)) or newer is needed; upgrade the server"
        )
    }
}

extension JournalError {
    /// What it means for who has a journal.
    init(_ error: PostgresError, _ action: String, _ place: PostgresPlace) {
        let text = error.text
        // Some of libpq's messages end with a question.
        let fact = "Cannot \(action) the journal '\(place.text)': \(text)" + (text.last == "?" ? "" : ".")
        switch error {
        case .library, .unfit: self.init(.newer, fact, remedy: "")
        case .lost:
            let remedy = "Check the server and the network"
            // A verb has ended when that is read, and a node that could not start.
            self.init(.environment, "\(fact) \(remedy).", remedy: "\(remedy); Dropmill connects again by itself.")
        case .refused(let state, _):
            let remedy = Self.remedy(of: state)
            let kind: Kind =
                state == PostgresState.noTable
                ? .missing : PostgresState.isConfiguration(state) ? .newer : .environment
            self.init(kind, "\(fact) \(remedy)", remedy: remedy)
        }
    }

    private static func remedy(of state: String) -> String {
        switch state {
        case PostgresState.noTable: "'dropmill run' makes it there; 'options=-csearch_path=NAME' names another schema."
        case PostgresState.noRight: "Give the role its rights: 'dropmill journal upgrade --grant ROLE', as the owner."
        case PostgresState.noDatabase: "Create that database, or name another."
        case PostgresState.noSchema:
            "Name a schema that is there ('options=-csearch_path=NAME') and that the role may use: dropmill "
                + "journal init --grant ROLE."
        case PostgresState.noRole: "Create that role first."
        case let state where state.hasPrefix(PostgresState.noEntry):
            "Check the role and pg_hba.conf; a password belongs in ~/.pgpass or in a service file."
        case PostgresState.noConnection:
            "Raise 'max_connections' of the server: a node takes three or four, a verb one or two."
        case PostgresState.full: "Free space on the server."
        case PostgresState.readOnly: "Name the server that can be written to ('target_session_attrs=read-write')."
        default: "Check the server's log."
        }
    }
}
