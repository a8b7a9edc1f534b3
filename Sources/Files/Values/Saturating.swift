extension FixedWidthInteger {
    /// The sum, or the nearest number that there is: for sizes that a file system claims. Two sparse files may well
    /// have more bytes than an `Int64` can count.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that there is.
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the nearest number that there is.
    package func multipliedSaturated(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }

    /// The whole part of a number, or the nearest number that there is; 0 for what is none.
    package init(saturating number: Double) {
        self = Self(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}

extension Sequence where Element: FixedWidthInteger {
    /// All of them together, or the nearest number that there is.
    package var saturatedSum: Element { reduce(0) { $0.addingSaturated($1) } }
}
