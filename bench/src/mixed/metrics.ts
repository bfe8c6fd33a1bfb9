import { setTimeout } from 'node:timers/promises'
import type { Client } from './client.ts'

const ATTEMPTS = 60
/** Gateways cache the numbers from their database for five seconds. */
const FRESH_AFTER_MS = 5_500

/** The sum of all samples with these labels. Waits until they are fresh. */
export async function readMetric(client: Client, name: string, label = ''): Promise<number> {
  await setTimeout(FRESH_AFTER_MS)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const answer = await client.read({ operation: 'metrics', method: 'GET', path: '/metrics' })
    const samples = answer?.status === 200 ? samplesOf(answer.bytes.toString(), name, label) : []
    if (samples.length > 0) return samples.reduce((sum, value) => sum + value, 0)
    await setTimeout(500)
  }
  throw new Error(`the metrics do not contain ${name}`)
}

function samplesOf(text: string, name: string, label = ''): number[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(label))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
}
