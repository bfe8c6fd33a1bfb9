import { formatKey } from '@svc/transparency/note'
import { readConfig } from '../config.ts'
import { witnessKey } from '../create-context.ts'

export async function run(): Promise<void> {
  const { config, secrets } = readConfig(process.env)
  console.log(formatKey(witnessKey(config, secrets)))
}
