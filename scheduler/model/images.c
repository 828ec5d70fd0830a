/* SPDX-License-Identifier: Apache-2.0
 * Copyright The maar Authors */
/* Images of nodes: each is known once, with the nodes that have it. How much an image counts on one node depends on how
 * many have it, so when that number changes all of them are touched, if any class asks for the image. */

#include "model/parts.h"

void maar_images_init(struct maar_world *world)
{
    world->images = maar_map_create();
}

void maar_images_fini(struct maar_world *world)
{
    /* The last node took the last image with it. */
    maar_vec_fini(&world->stale_images);
    maar_map_destroy(world->images);
}

/* ---- which nodes have it ---- */

static void mark_stale(struct maar_world *world, struct maar_image_entry *image)
{
    if (image->is_stale)
        return;
    image->is_stale = true;
    maar_vec_push(&world->stale_images, image);
}

static const struct maar_image *take(struct maar_world *world, const char *name, uint32_t slot)
{
    struct maar_image_entry *image = maar_map_find(world->images, name);
    if (!image) {
        image = maar_calloc(1, sizeof *image);
        image->view.name = maar_world_intern(world, name);
        maar_map_set(world->images, name, image);
    }
    maar_vec_push(&image->nodes, slot);
    image->view.n_nodes++;
    mark_stale(world, image);
    return &image->view;
}

static void destroy(struct maar_world *world, struct maar_image_entry *image)
{
    for (size_t i = 0; image->is_stale && i < world->stale_images.n; i++) {
        if (world->stale_images.data[i] == image) {
            maar_vec_remove(&world->stale_images, i);
            break;
        }
    }
    maar_map_remove(world->images, image->view.name);
    maar_world_unintern(world, image->view.name);
    maar_vec_fini(&image->nodes);
    free(image);
}

static void give_back(struct maar_world *world, const struct maar_image *view, uint32_t slot)
{
    struct maar_image_entry *image = (struct maar_image_entry *)(uintptr_t)view;
    image->view.n_nodes--;
    for (size_t i = 0; i < image->nodes.n; i++) {
        if (image->nodes.data[i] == slot) {
            image->nodes.data[i] = image->nodes.data[--image->nodes.n];
            break;
        }
    }
    if (image->view.n_nodes == 0)
        destroy(world, image);
    else
        mark_stale(world, image);
}

/* ---- what a node has ---- */

static bool is_same(const struct maar_node_entry *node, const struct maar_image_record *images,
                    uint32_t n)
{
    if (node->images.n != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (node->images.data[i].size_bytes != images[i].size_bytes ||
            strcmp(node->images.data[i].image->name, images[i].name) != 0)
            return false;
    return true;
}

/* The next name of both lists: what only the old one has goes, what only the new one has comes. */
static void merge(struct maar_world *world, uint32_t slot, const struct maar_image_record *images,
                  uint32_t n)
{
    struct maar_node_entry *node = world->node_entries.data[slot];
    MAAR_VEC(struct maar_node_image) next = {0};
    size_t old = 0;
    uint32_t new = 0;
    while (old < node->images.n || new < n) {
        int order = old == node->images.n ? 1
                    : new == n            ? -1
                               : strcmp(node->images.data[old].image->name, images[new].name);
        if (order < 0) {
            give_back(world, node->images.data[old++].image, slot);
            continue;
        }
        const struct maar_image *image =
            order == 0 ? node->images.data[old++].image : take(world, images[new].name, slot);
        struct maar_node_image here = {image, images[new ++].size_bytes};
        maar_vec_push(&next, here);
    }
    maar_vec_fini(&node->images);
    memcpy(&node->images, &next, sizeof next);
}

void maar_images_set(struct maar_world *world, uint32_t slot,
                     const struct maar_image_record *images, uint32_t n)
{
    struct maar_node_entry *node = world->node_entries.data[slot];
    if (is_same(node, images, n))
        return;
    merge(world, slot, images, n);
    world->node_facts[slot].images = node->images.data;
    world->node_facts[slot].n_images = (uint32_t)node->images.n;
    maar_nodes_touch_images(world, slot);
}

/* ---- before a session ---- */

static bool is_asked_for(const struct maar_world *world, const struct maar_image_entry *image)
{
    for (size_t i = 0; i < world->class_slots.n; i++) {
        const struct maar_class_entry *cls = world->class_slots.data[i];
        for (uint32_t k = 0; cls && k < cls->view.spec->n_images; k++)
            if (cls->view.spec->images[k] == image->view.name)
                return true;
    }
    return false;
}

void maar_images_prepare(struct maar_world *world)
{
    world->images_round++;
    for (size_t i = 0; i < world->stale_images.n; i++) {
        struct maar_image_entry *image = world->stale_images.data[i];
        image->is_stale = false;
        /* With new ranks every index starts anew. */
        if (world->ranks_stale || !is_asked_for(world, image))
            continue;
        for (size_t k = 0; k < image->nodes.n; k++) {
            struct maar_node_entry *node = world->node_entries.data[image->nodes.data[k]];
            if (node->images_round == world->images_round)
                continue;
            node->images_round = world->images_round;
            maar_nodes_touch_images(world, image->nodes.data[k]);
        }
    }
    maar_vec_clear(&world->stale_images);
}

/* ---- recount ---- */

static bool has_image(const struct maar_node_entry *node, const struct maar_image *image)
{
    for (size_t i = 0; i < node->images.n; i++)
        if (node->images.data[i].image == image)
            return true;
    return false;
}

size_t maar_images_check(const struct maar_world *world, struct maar_text *out)
{
    size_t at = 0, n = 0, n_listed = 0, n_had = 0;
    void *value;
    while (maar_map_next(world->images, &at, NULL, NULL, &value)) {
        const struct maar_image_entry *image = value;
        bool all_have = image->view.n_nodes == image->nodes.n;
        for (size_t i = 0; i < image->nodes.n; i++)
            all_have &= has_image(world->node_entries.data[image->nodes.data[i]], &image->view);
        if (!all_have) {
            maar_text_addf(out, "image %s: counts %u nodes, not all of %zu have it\n",
                           image->view.name, image->view.n_nodes, image->nodes.n);
            n++;
        }
        n_listed += image->nodes.n;
    }
    for (size_t i = 0; i < world->node_entries.n; i++)
        n_had += world->node_entries.data[i] ? world->node_entries.data[i]->images.n : 0;
    if (n_had == n_listed)
        return n;
    maar_text_addf(out, "images: nodes have %zu, %zu are listed\n", n_had, n_listed);
    return n + 1;
}
