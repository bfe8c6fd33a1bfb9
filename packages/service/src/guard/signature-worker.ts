// The program of the thread that `signature-thread.ts` starts.

import { parentPort } from 'node:worker_threads'
import { createSignatureCheck } from './signature-check.ts'
import type { Answer, Question } from './signature-thread.ts'

const isSigned = createSignatureCheck()

parentPort?.on('message', ({ id, signed }: Question) => {
  parentPort?.postMessage({ id, verdicts: signed.map(isSigned) } satisfies Answer)
})
