/// Codes of errors (SQLSTATE).
enum PostgresState {
    static let noTable = "42P01", noRight = "42501", noSchema = "3F000", full = "53100", readOnly = "25006"
    /// The server has as many connections as it may.
    static let noConnection = "53300"
    /// How a role is told that it may make no tables, or not there.
    static let mayNotMake = [noRight, noSchema]
    static let noDatabase = "3D000", noRole = "42704"
    static let overlaps = "23514"
    /// How those begin of transactions that were in each other's way.
    static let rolledBack = "40"
    /// How those begin of who is not let in.
    static let noEntry = "28"

    /// Whether somebody has to change something before it can be better.
    static func isConfiguration(_ state: String) -> Bool {
        [noRight, noDatabase, noSchema, noRole].contains(state) || state.hasPrefix(noEntry)
    }
}
