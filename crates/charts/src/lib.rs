//! Helm charts and Metachart charts.
