// The thread of one parser.

import { parentPort, workerData } from 'node:worker_threads'
import type { FuzzOptions } from '../../target.ts'
import { openCaseBox } from '../engine/case-box.ts'
import { startCoverage } from '../engine/coverage.ts'
import { fuzzParser } from '../engine/fuzz-parser.ts'
import type { Parser } from '../engine/parser.ts'

const { module, options, memory } = workerData as { module: string; options: FuzzOptions; memory: SharedArrayBuffer }

const coverage = await startCoverage()
const { open } = (await import(module)) as { open(): Promise<Parser> | Parser }
const parser = await open()
const end = performance.now() + options.seconds * 1000
const result = await fuzzParser(parser, {
  seed: options.seed,
  isOver: () => performance.now() >= end,
  coverage,
  onCase: openCaseBox(memory).write,
})
await parser.close?.()
parentPort!.postMessage(result)
