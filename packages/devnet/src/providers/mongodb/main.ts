// A MongoDB server in its own process; prints its URL.

import { startMongodbServer } from './start.ts'

const { DEV_MONGODB_PORT = '27017', DEV_MONGODB_FOLDER } = process.env

const { url, stop } = await startMongodbServer({
  port: Number(DEV_MONGODB_PORT),
  ...(DEV_MONGODB_FOLDER && { folder: DEV_MONGODB_FOLDER }),
})
console.log(url)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
