import { formatKey } from '@svc/protocol/transparency/note'
import { ConfigError } from '@svc/service/program/config'
import { readConfig } from '../config.ts'
import { witnessKey } from '../create-context.ts'

export async function run(): Promise<void> {
  try {
    const { config, secrets } = readConfig(process.env)
    console.log(formatKey(witnessKey(config, secrets)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
