// The program of the thread that `eip191-thread.ts` starts.

import { parentPort } from 'node:worker_threads'
import type { Answer, Question } from './eip191-thread.ts'
import { createPersonalCheck } from './personal-check.ts'

const isSignedBy = createPersonalCheck()

parentPort?.on('message', ({ id, address, message, signature }: Question) => {
  parentPort?.postMessage({ id, isValid: isSignedBy(address, message, signature) } satisfies Answer)
})
