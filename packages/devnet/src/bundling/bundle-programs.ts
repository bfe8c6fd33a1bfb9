import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { bundleOf } from '@svc/service/program/bundle'

/** Makes missing and stale bundles, each in its own process, whose memory is freed afterwards. */
export function bundlePrograms(programs: readonly URL[]): void {
  const bundler = fileURLToPath(new URL('./make-bundle.ts', import.meta.url))
  for (const program of programs) {
    // If no bundle can be made or written, the program runs from its sources.
    if (bundleOf(program) === null) spawnSync(process.execPath, [bundler, fileURLToPath(program)], { stdio: 'ignore' })
  }
}
