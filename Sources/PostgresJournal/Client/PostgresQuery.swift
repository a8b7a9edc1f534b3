/// A command with its values, all of which go as text.
struct PostgresQuery {
    let sql: String
    let values: [String?]

    init(_ sql: String, _ values: (any PostgresValue)?...) { self.init(sql, values) }

    init(_ sql: String, _ values: [(any PostgresValue)?]) {
        self.sql = sql
        self.values = values.map { $0?.postgresText }
    }
}
