/// Codes of errors (SQLSTATE).
enum PostgresState {
    static let noTable = "42P01", noRight = "42501", full = "53100", readOnly = "25006"
    static let exists = "42P07", overlaps = "23514"
}
