// Single steps of drivers, which benchmarks measure separately.

export { signItem } from '../src/arweave/data-item.ts'
export { commitmentThread } from '../src/filecoin/commitment-thread.ts'
