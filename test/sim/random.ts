// Random values from a seed. The same seed always gives the same values.

export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed | 0;
  }
  /** A 32-bit integer (splitmix32). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }
  /** An integer from 0 to n − 1. */
  int(n: number): number {
    return Math.floor((this.next() / 2 ** 32) * n);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T;
  }
  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32;
  }
  /** One of the names, each with its weight. */
  weighted<Name extends string>(weights: Record<Name, number>): Name {
    const entries = Object.entries<number>(weights) as [Name, number][];
    let left = this.int(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    throw new Error('no weight is positive');
  }
  bytes(n: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length: n }, () => this.next() & 255);
  }
}
