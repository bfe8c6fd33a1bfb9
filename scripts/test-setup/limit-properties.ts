import fc from 'fast-check'

/** Shrinking a failed case may take for ever. The limit is below that of a test, so that the failure is reported. */
fc.configureGlobal({ interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true })
