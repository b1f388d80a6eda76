// The sum of the squares of a block's numbers, by a tree in shared memory.
struct Item {
    int value;
    float weight;
};

Item item(int value) {
    Item new;
    new.value = value * value;
    new.weight = sqrt((float) new.value);
    return new;
}

kernel void squares(int* data, int n) {
    shared Item tile[64];
    int square = 0;
    if (threadIdx < n) square = data[threadIdx];
    tile[threadIdx] = item(square);
    barrier();
    for (int half = blockDim / 2; half > 0; half = half / 2) {
        if (threadIdx < half) {
            Item other = tile[threadIdx + half];
            tile[threadIdx].value = tile[threadIdx].value + other.value;
            tile[threadIdx].weight = tile[threadIdx].weight + other.weight;
        }
        barrier();
    }
    assert(tile[0].value < 1000000);
    if (threadIdx == 0) {
        data[0] = tile[0].value;
        printf("the squares add up to %d, the numbers to %f\n", tile[0].value, tile[0].weight);
    }
}
