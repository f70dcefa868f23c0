// Names for the dashboard's values where other modules have values of the same name.

import Dashboard

/// What the dashboard shows of a latency; the store's is `Store.Latency`.
typealias ShownLatency = Latency
/// What the dashboard shows of the quota; the store's is `Store.Quota`.
typealias ShownQuota = Quota
/// Whose log the dashboard shows; the worker's own are `Commands.LogSource`.
typealias ShownLog = LogSource
