import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SettingsReader } from '@svc/service/program/config'

export interface PagesConfig {
  /** The output folder of the build of `apps/web`. */
  folder: string
  /** The agent service of the same admin; empty if there is none. */
  agentUrl: string
}

const OWN_PAGES = fileURLToPath(new URL('../../../web/dist', import.meta.url))

export function readPagesConfig(settings: SettingsReader): PagesConfig {
  const folder = settings.text('PAGES_DIR')
  return {
    folder: folder ? resolve(folder) : OWN_PAGES,
    agentUrl: settings.url('AGENT_URL'),
  }
}
