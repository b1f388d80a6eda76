//! Analyses, optimisation passes, legalisation and instruction selection.
