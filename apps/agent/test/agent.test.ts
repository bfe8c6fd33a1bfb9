import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFreshDatabase } from '@svc/devnet/databases'
import { sharedPostgres } from '@svc/devnet/postgres-server'
import { startTestAgent } from '@svc/devnet/services/agent'
import { expect, it, onTestFinished } from 'vitest'

it('a start that fails because its port is in use closes every database connection', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const PORT = String((other.address() as AddressInfo).port)
  const { url } = await createFreshDatabase('postgres')
  await expect(startTestAgent({ DATABASE_URL: url, PORT })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  // PostgreSQL refuses to drop a database that still has connections.
  const postgres = await sharedPostgres()
  await postgres.execute(`drop database ${new URL(url).pathname.slice(1)}`)
})
