import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Halves the time to start, for what is imported from then on. In a folder beside the code: nobody may put code there
 * who could not change the code itself. Where it cannot be written, everything works as without it.
 */
export function rememberCompiled(): void {
  enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/svc', import.meta.url)))
}
