// A gateway in a process of its own, which a test kills at some step.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { programEnvironment } from '@svc/devnet/start-process'
import type { Variables } from '@svc/http-service/config'
import { onTestFinished } from 'vitest'
import type { Gateway } from '../../src/gateway.ts'
import { houseOf, type LockerHouse } from '../auth/lockers.ts'
import type { AnchorTestbed } from './anchor-testbed.ts'

const PROGRAM = fileURLToPath(new URL('./programs/gateway-at.ts', import.meta.url))

interface GatewayToKill {
  house: LockerHouse
  kill(): Promise<void>
}

export async function startGatewayToKill(
  testbed: AnchorTestbed,
  variables: Variables,
  ...tasks: string[]
): Promise<GatewayToKill> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-killed-'))
  const env = programEnvironment({
    ...testbed.variables,
    ...variables,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    RUN_JOBS: 'false',
    LOCAL_PROVIDERS: 'gcs',
  })
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, [PROGRAM, String(testbed.clock.now()), ...tasks], { env, stdio: [...stdio] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(async () => {
    await kill()
    await rm(folder, { recursive: true })
  })
  const [url] = await once(createInterface(child.stdout!), 'line')
  return { house: houseOf({ url } as Gateway, testbed.clock), kill }
}
