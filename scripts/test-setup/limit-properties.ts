import fc from 'fast-check'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    propertySeed: number
  }
}

// Shrinking a failed case may take for ever. The limit is below that of a test, so that the failure is reported.
fc.configureGlobal({ seed: inject('propertySeed'), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true })
