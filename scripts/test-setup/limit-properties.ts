import fc from 'fast-check'

/**
 * The smallest case that fails is looked for after one that does, and that may take for ever. This is less than a test
 * may take, so that it can say what it found.
 */
fc.configureGlobal({ interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true })
