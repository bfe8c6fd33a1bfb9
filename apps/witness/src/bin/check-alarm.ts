import { readFileSync } from 'node:fs'
import { readKey } from '@svc/protocol/transparency/note'
import { checkAlarm } from '../monitor/check-alarm.ts'

const USAGE = 2

/** Exits with 0 when the evidence proves the alarm, and with 1 when it does not. */
export async function run(): Promise<void> {
  const [file, encoded] = process.argv.slice(3)
  const key = encoded === undefined ? 'usage: svc-witness check-alarm <file> <key of the log>' : readKey(encoded)
  if (file === undefined || typeof key === 'string') {
    console.error(`svc-witness: ${typeof key === 'string' ? key : 'no file is given'}`)
    process.exitCode = USAGE
    return
  }
  try {
    const { isProven, shown } = checkAlarm(readFileSync(file, 'utf8'), key)
    for (const sentence of shown) console.log(sentence)
    console.log(isProven ? 'proven' : 'not proven by this evidence')
    process.exitCode = isProven ? 0 : 1
  } catch (error) {
    console.error(`svc-witness: ${file}: ${(error as Error).message}`)
    process.exitCode = USAGE
  }
}
