// A real Caddy with deploy/caddy/Caddyfile.

import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { change, makeFolder, type RunningProxy, runProxy } from './proxy.ts'

const SHIPPED = new URL('../deploy/caddy/Caddyfile', import.meta.url)
const program = process.env.CADDY_PATH ?? 'caddy'

export const isCaddyInstalled = spawnSync(program, ['version']).status === 0

export async function startCaddy(gateway: number, port: number): Promise<RunningProxy> {
  const folder = await makeFolder()
  const site = change(await readFile(SHIPPED, 'utf8'), [
    [/\{\$SVC_SITE:.*?\}/, () => `http://127.0.0.1:${port}`],
    [/\{\$SVC_GATEWAYS:.*?\}/, () => `127.0.0.1:${gateway}`],
    // The administration port is the same for every Caddy on the machine.
    [/^\{\n/m, () => '{\n\tadmin off\n'],
  ])
  await writeFile(join(folder, 'Caddyfile'), site)
  return runProxy(folder, port, program, ['run', '--config', join(folder, 'Caddyfile')])
}
