/// Codes of errors (SQLSTATE).
enum PostgresState {
    static let noTable = "42P01", noRight = "42501", full = "53100", readOnly = "25006"
    static let overlaps = "23514"
    /// How those begin of transactions that were in each other's way.
    static let rolledBack = "40"
}
