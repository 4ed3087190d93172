// Parses the arguments of `usage lower`. Error messages contain the argument.

/** Parses `id=quantity` arguments. An id can contain an equals sign. */
export async function readLowered(given: Record<string, unknown>) {
  const texts = given.uses as string[];
  const uses = texts.map((text) => {
    const [, id, quantity = ''] = /^(.*)=(\d{1,16})$/.exec(text) ?? [];
    return { id, quantity: quantity === '' ? null : Number(quantity) };
  });
  return {
    sent: { uses },
    inWords: (error: string) => error.replace(/\buses\.(\d+)/g, (_, index) => `${texts[index]}`),
  };
}
