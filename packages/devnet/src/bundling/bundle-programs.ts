import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleOf } from '@svc/service/program/bundle'

/** Makes the bundles that are missing or stale, each in a process of its own, which takes its memory with it. */
export function bundlePrograms(programs: readonly URL[]): void {
  const bundler = fileURLToPath(new URL('./make-bundle.ts', import.meta.url))
  for (const program of programs) {
    // Where none can be made or written, the program runs from its sources.
    if (bundleOf(program) === null) spawnSync(process.execPath, [bundler, fileURLToPath(program)], { stdio: 'ignore' })
  }
}
