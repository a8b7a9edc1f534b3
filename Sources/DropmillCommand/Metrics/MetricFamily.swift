/// Figures of one kind, as Prometheus has them: one name, one type, and a sample for each set of labels.
struct MetricFamily: Equatable {
    enum Kind: String { case counter, gauge, histogram }

    struct Sample: Equatable {
        /// What is added to the family's name: `_total`, `_bucket`, `_sum`, `_count`, or nothing.
        var suffix = ""
        /// In the order in which they are shown.
        var labels: [Label] = []
        var value: Double
    }

    struct Label: Equatable {
        var name: String
        var value: String
    }

    /// Without `_total`.
    var name: String
    var kind: Kind
    var help: String
    var samples: [Sample]
}
