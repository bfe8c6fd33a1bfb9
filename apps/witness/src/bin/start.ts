import { runUntilStopped } from '@svc/service/program/run'
import { readConfig } from '../config.ts'
import { startWitness } from '../start-witness.ts'

export function run(): Promise<void> {
  return runUntilStopped(async () => {
    const { config, secrets } = readConfig(process.env)
    return startWitness(config, secrets)
  })
}
