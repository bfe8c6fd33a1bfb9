import fc from 'fast-check'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    propertySeed: number
  }
}

// Shrinking a failed case may never end. The limit is below the test timeout, so that the failure is reported.
fc.configureGlobal({ seed: inject('propertySeed'), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true })
