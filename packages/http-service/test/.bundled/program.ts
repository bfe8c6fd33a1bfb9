import { part } from './part.ts'
console.log(part(), import.meta.url)

console.log(new Error('here').stack)
