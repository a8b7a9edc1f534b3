/// Codes of errors (SQLSTATE).
enum PostgresState {
    static let noTable = "42P01", noRight = "42501", noSchema = "3F000", full = "53100", readOnly = "25006"
    /// How a role is told that it may make no tables, or not there.
    static let mayNotMake = [noRight, noSchema]
    static let overlaps = "23514"
    /// How those begin of transactions that were in each other's way.
    static let rolledBack = "40"
}
