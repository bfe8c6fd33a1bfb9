// The program of the thread that `personal-thread.ts` starts.

import { parentPort } from 'node:worker_threads'
import { createPersonalCheck } from './personal-check.ts'
import type { Answer, Question } from './personal-thread.ts'

const isSignedBy = createPersonalCheck()

parentPort?.on('message', ({ id, address, message, signature }: Question) => {
  parentPort?.postMessage({ id, isValid: isSignedBy(address, message, signature) } satisfies Answer)
})
